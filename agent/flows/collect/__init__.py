"""Articles and threads gathered from start pages, one decision a page, and a digest of them."""
