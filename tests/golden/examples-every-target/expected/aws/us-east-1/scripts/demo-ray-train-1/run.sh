set -e
. ~/venv/bin/activate
./start-cluster.sh python train.py
