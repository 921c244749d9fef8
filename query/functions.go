package query

import (
	"math"
	"sort"
	"strings"
)

// function is a scalar function.
type function struct {
	least, most int // arguments; most < 0 for any number
	run         func(e *budget, args []Value) Value
	units       units
	strict      bool // NULL when any argument is
}

// units says what a function does with units.
type units uint8

const (
	anyUnit   units = iota // it takes all, and makes none
	firstUnit              // what it makes is of the unit of its first argument
	oneUnit                // it makes one of its arguments: all are read in the same unit
	noUnit                 // it works with texts
	noMeasure              // it works with numbers that are of nothing
	madeTime               // it makes a time
	dateUnit               // it takes times, and makes texts that name instants
)

// scalars are the functions of one row.
var scalars = map[string]function{
	"abs":          {1, 1, absolute, firstUnit, true},
	"round":        {1, 2, round, firstUnit, true},
	"length":       {1, 1, length, noUnit, true},
	"lower":        {1, 1, func(_ *budget, a []Value) Value { return String(lowerASCII(a[0].String())) }, noUnit, true},
	"upper":        {1, 1, func(_ *budget, a []Value) Value { return String(upperASCII(a[0].String())) }, noUnit, true},
	"substr":       {2, 3, substr, noUnit, true},
	"substring":    {2, 3, substr, noUnit, true},
	"trim":         {1, 2, trimmer(strings.Trim), noUnit, true},
	"ltrim":        {1, 2, trimmer(strings.TrimLeft), noUnit, true},
	"rtrim":        {1, 2, trimmer(strings.TrimRight), noUnit, true},
	"replace":      {3, 3, replace, noUnit, false},
	"instr":        {2, 2, instr, noUnit, true},
	"coalesce":     {2, -1, coalesce, oneUnit, false},
	"ifnull":       {2, 2, coalesce, oneUnit, false},
	"nullif":       {2, 2, nil, oneUnit, false},
	"min":          {2, -1, nil, oneUnit, true},
	"max":          {2, -1, nil, oneUnit, true},
	"iif":          {2, 3, iif, oneUnit, false},
	"typeof":       {1, 1, typeOf, anyUnit, false},
	"quote":        {1, 1, quote, anyUnit, false},
	"sign":         {1, 1, signOf, anyUnit, true},
	"printf":       {1, -1, printf, anyUnit, false},
	"format":       {1, -1, printf, anyUnit, false},
	"in_nodelist":  {2, 2, inNodelist, noUnit, true},
	"has":          {2, 2, hasWord, noUnit, true},
	"date":         {0, -1, nil, dateUnit, true},
	"time":         {0, -1, nil, dateUnit, true},
	"datetime":     {0, -1, nil, dateUnit, true},
	"unixepoch":    {0, -1, nil, madeTime, true},
	"strftime":     {1, -1, nil, dateUnit, true},
	"floor":        {1, 1, rounder(math.Floor), firstUnit, true},
	"ceil":         {1, 1, rounder(math.Ceil), firstUnit, true},
	"ceiling":      {1, 1, rounder(math.Ceil), firstUnit, true},
	"sqrt":         {1, 1, realFunction(squareRoot), noMeasure, true},
	"mod":          {2, 2, realFunction(modulo), oneUnit, true},
	"pow":          {2, 2, realFunction(power), noMeasure, true},
	"power":        {2, 2, realFunction(power), noMeasure, true},
	"hex":          {1, 1, hexText, noUnit, false},
	"char":         {0, -1, char, noUnit, false},
	"concat":       {1, -1, concatTexts, noUnit, false},
	"concat_ws":    {2, -1, concatWith, noUnit, false},
	"if":           {2, 3, iif, oneUnit, false},
	"greatest":     {1, -1, nil, oneUnit, true},
	"least":        {1, -1, nil, oneUnit, true},
	"now":          {0, 0, nil, madeTime, true},
	"date_trunc":   {2, 3, nil, anyUnit, true},
	"json_object":  {0, -1, nil, anyUnit, false},
	"json_array":   {0, -1, nil, anyUnit, false},
	"json_extract": {2, 2, jsonExtract, noUnit, true},
	"json":         {1, 1, jsonMinified, noUnit, true},
	"json_valid":   {1, 1, jsonValid, noUnit, true},
	"julianday":    {0, -1, nil, dateUnit, true},
}

// FunctionNames lists the functions, for completion.
func FunctionNames() []string {
	var names []string
	for name := range scalars {
		names = append(names, name)
	}
	for name := range aggregates {
		if _, twice := scalars[name]; !twice {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}
