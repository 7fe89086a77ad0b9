set -e
python3 -m venv ~/venv
~/venv/bin/pip install --quiet "trl==0.24.0" "peft==0.17.1"
