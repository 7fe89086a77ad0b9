«templates/aws/common/volumes.py»
