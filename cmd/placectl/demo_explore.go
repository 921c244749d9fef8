package main
var exploreReserves []demoReserve
