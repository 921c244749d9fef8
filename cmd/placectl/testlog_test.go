package main

import (
	_ "github.com/placectl/placectl/store/logtest" // testlog:///PATH names a database that is kept in a log
)
