set -e
python3 -m venv ~/venv
~/venv/bin/pip install --quiet "ray[train]==2.51.0"
