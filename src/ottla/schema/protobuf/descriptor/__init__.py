"""FileDescriptorProtos: read, written, and kept with their names resolved."""
