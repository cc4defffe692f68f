"""Which folder of placer may import which: the one table of it.

BUILD makes a py_library of each folder with these dependencies, and
import_direction_test.py holds the import statements against it. Each key is a
folder or a module of this package ('policies/base'); the rule for a module goes
before that of its folder. A layer lists every layer that it may import, itself
apart, and stands below all of them. Python reads this file too: plain literals
only.
"""

LAYERS = {
    "core": [],
    "rewriters": ["core"],
    "importers": ["core", "rewriters"],
    "simulation": ["core"],
    "devices": ["core", "simulation"],
    "problems": ["core", "rewriters", "importers", "simulation", "devices"],
    "measurers/base": ["core"],
    "measurers": [
        "core",
        "rewriters",
        "devices",
        "simulation",
        "measurers/base",
    ],
    "policies/base": ["core"],
    "policies": ["core", "simulation", "policies/base"],
    "search": ["core", "measurers/base", "policies/base"],
    "reports": ["core"],
    "hooks": [
        "core",
        "importers",
        "rewriters",
        "devices",
        "problems",
        "simulation",
        "measurers/base",
        "measurers",
        "policies/base",
        "policies",
        "search",
        "reports",
    ],
    "cli": [
        "core",
        "importers",
        "rewriters",
        "devices",
        "problems",
        "simulation",
        "measurers/base",
        "measurers",
        "policies/base",
        "policies",
        "search",
        "reports",
        "hooks",
    ],
}
