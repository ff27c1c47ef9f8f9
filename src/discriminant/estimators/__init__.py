"""The named methods: thin scikit-learn estimators over the parts.  Each is one choice of criterion, coding, optimizer.

This is the only package that imports scikit-learn at import time.
"""
