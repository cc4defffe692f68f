"""Problems, measurers and contracts that tests of many folders share."""
