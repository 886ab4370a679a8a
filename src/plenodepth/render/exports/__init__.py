"""Rendered views as other software takes them: one file per format, and `export_views` before all of them.

Every writer takes views in mm and a folder. What each format says about axes, units and pixel centres is in its file.
"""
