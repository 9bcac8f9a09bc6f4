"""The version of the package, and of the sidecar that it was made with. What builds the package writes both."""

__version__ = "0.0.0.dev0"
SIDECAR = "dev"
