"""The judgements of a flow, a file each: the shape of a reply, its fallback, and the role. No store, tools or
clock."""
