"""Speed, measured: `python -m bench` runs everything and prints ratios with their spread."""
