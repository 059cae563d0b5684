"""Frames over sockets: listeners and connections for servers, node connections for clients, a tiny HTTP responder."""
