set -e
python3 -m venv ~/venv
~/venv/bin/pip install --quiet -r requirements.txt
