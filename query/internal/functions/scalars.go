package functions

import (
	"math"
	"sort"
	"strings"

	"github.com/placectl/placectl/query/values"
)

// Scalar is a scalar function.
type Scalar struct {
	Least, Most int // numbers of arguments; most < 0 for any number
	Run         func(e *Budget, args []values.Value) values.Value
	Units       UnitRule
	Strict      bool // NULL if any argument is
}

// UnitRule says how a function treats units.
type UnitRule uint8

const (
	anyUnit     UnitRule = iota // takes any units, and returns none
	FirstUnit                   // returns the unit of its first argument
	OneUnit                     // returns one of its arguments: all are read in the same unit
	NoUnit                      // takes texts
	NoMeasure                   // takes numbers without a unit
	MadeTime                    // returns a time
	MadeSeconds                 // takes times, and returns a plain number
	DateUnit                    // takes times, and returns texts that name instants
)

// Scalars are the scalar functions.
var Scalars = map[string]Scalar{
	"abs":    {1, 1, absolute, FirstUnit, true},
	"round":  {1, 2, round, FirstUnit, true},
	"length": {1, 1, length, NoUnit, true},
	"lower": {1, 1, func(_ *Budget, a []values.Value) values.Value {
		return values.String(values.Lower(a[0].String()))
	}, NoUnit, true},
	"upper": {1, 1, func(_ *Budget, a []values.Value) values.Value {
		return values.String(values.Upper(a[0].String()))
	}, NoUnit, true},
	"substr":      {2, 3, substr, NoUnit, true},
	"substring":   {2, 3, substr, NoUnit, true},
	"trim":        {1, 2, trimmer(strings.Trim), NoUnit, true},
	"ltrim":       {1, 2, trimmer(strings.TrimLeft), NoUnit, true},
	"rtrim":       {1, 2, trimmer(strings.TrimRight), NoUnit, true},
	"replace":     {3, 3, replace, NoUnit, false},
	"instr":       {2, 2, instr, NoUnit, true},
	"coalesce":    {2, -1, coalesce, OneUnit, false},
	"ifnull":      {2, 2, coalesce, OneUnit, false},
	"nullif":      {2, 2, nullif, OneUnit, false},
	"min":         {2, -1, extreme(-1), OneUnit, true},
	"max":         {2, -1, extreme(1), OneUnit, true},
	"iif":         {2, 3, iif, OneUnit, false},
	"typeof":      {1, 1, typeOf, anyUnit, false},
	"quote":       {1, 1, quote, anyUnit, false},
	"sign":        {1, 1, signOf, anyUnit, true},
	"printf":      {1, -1, printf, anyUnit, false},
	"format":      {1, -1, printf, anyUnit, false},
	"in_nodelist": {2, 2, inNodelist, NoUnit, true},
	"has":         {2, 2, hasWord, NoUnit, true},
	"date":        {0, -1, nil, DateUnit, true},
	"time":        {0, -1, nil, DateUnit, true},
	"datetime":    {0, -1, nil, DateUnit, true},
	"unixepoch":   {0, -1, nil, MadeSeconds, true},
	"strftime":    {1, -1, nil, DateUnit, true},
	"floor":       {1, 1, rounder(math.Floor), FirstUnit, true},
	"ceil":        {1, 1, rounder(math.Ceil), FirstUnit, true},
	"ceiling":     {1, 1, rounder(math.Ceil), FirstUnit, true},
	"sqrt":        {1, 1, realFunction(squareRoot), NoMeasure, true},
	"mod":         {2, 2, realFunction(modulo), OneUnit, true},
	"pow":         {2, 2, realFunction(power), NoMeasure, true},
	"power":       {2, 2, realFunction(power), NoMeasure, true},
	"hex":         {1, 1, hexText, NoUnit, false},
	"char":        {0, -1, char, NoUnit, false},
	"concat":      {1, -1, concatTexts, NoUnit, false},
	"concat_ws":   {2, -1, concatWith, NoUnit, false},
	"if":          {2, 3, iif, OneUnit, false},
	"greatest":    {1, -1, extreme(1), OneUnit, true},
	"least":       {1, -1, extreme(-1), OneUnit, true},
	"now":         {0, 0, nil, MadeTime, true},
	"date_trunc":  {2, 3, nil, anyUnit, true},
	"json_object": {0, -1, nil, anyUnit, false},
	"json_array":  {0, -1, nil, anyUnit, false},
	"json":        {1, 1, jsonMinified, NoUnit, true},
	"json_valid":  {1, 1, jsonValid, NoUnit, true},
	"julianday":   {0, -1, nil, DateUnit, true},
}

// Names lists the functions, for completion.
func Names() []string {
	var names []string
	for name := range Scalars {
		names = append(names, name)
	}
	for name := range Aggregates {
		if _, twice := Scalars[name]; !twice {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}
