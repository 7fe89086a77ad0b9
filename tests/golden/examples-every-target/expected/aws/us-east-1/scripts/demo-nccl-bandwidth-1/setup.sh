set -e
python3 -m venv ~/venv
~/venv/bin/pip install --quiet "torch==2.9.1" "numpy<3"
