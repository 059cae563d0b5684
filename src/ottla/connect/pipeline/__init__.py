"""The way of a record through converters and transforms, and of its errors."""
