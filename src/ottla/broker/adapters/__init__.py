"""The ports that replication needs, carried out by the controller channel and by connections to other nodes."""
