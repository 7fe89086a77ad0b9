«templates/aws/common/permissions.py»
