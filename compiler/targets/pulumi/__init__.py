"""The Pulumi engine: programs as folders, driven through the Automation API.

Knows no platform: a target hands over a folder with `Pulumi.yaml` and `__main__.py`, and gets
back what each operation did to which resource.
"""
