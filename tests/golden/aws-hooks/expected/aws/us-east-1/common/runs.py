«templates/aws/common/runs.py»
