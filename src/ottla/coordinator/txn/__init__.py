"""The transaction coordinator: who may write in whose name, and how each transaction ends (KIP-98, KIP-890)."""
