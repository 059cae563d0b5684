"""Every setting of a node, declared by subject; `server` joins them with the keys that other packages own."""
