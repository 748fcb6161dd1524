"""The stores: one port, several databases."""
