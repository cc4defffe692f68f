"""The event-driven simulator of a step, and simulated devices."""
