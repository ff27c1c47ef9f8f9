"""What is true of a fit and what proves it: separability, capacity, certificates, and the statistician's summary."""
