"""The judgements of a flow, a file each: the shape of a reply and the role. No store, tools or clock."""
