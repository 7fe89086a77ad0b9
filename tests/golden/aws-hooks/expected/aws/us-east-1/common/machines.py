«templates/aws/common/machines.py»
