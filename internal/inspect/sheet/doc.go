// Package sheet prints on a terminal, into a file or into a pipe: lines, labeled fields, tables and JSON. What conversations hold was written
// by anybody. On a terminal, control characters would move the cursor and change colors, and marks of direction would make a line read as
// another. None of them passes.
package sheet
