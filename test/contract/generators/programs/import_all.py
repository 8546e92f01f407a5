"""Imports every module of a package in the working directory: python import_all.py PACKAGE"""

import importlib
import os
import pkgutil
import sys

sys.path.insert(0, os.getcwd())
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
    importlib.import_module(module.name)
