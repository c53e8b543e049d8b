// Package peer is one process of one of Go's libraries. It answers each line of its input by a line, as a process of Node
// answers messages (bench/processes/worker.ts): `probe`, whether a lock excludes; `work`, a slot of the load.
package peer

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// A Locker is one client, as its documentation would set it up.
type Locker interface {
	// Acquire waits for the lock; it returns what frees it.
	Acquire(name string) (func() error, error)
	// TryAcquire does not wait; nil: it is taken.
	TryAcquire(name string) (func() error, error)
}

// Open connects to a server by its URL.
type Open func(url string) (Locker, error)

type request struct {
	Op       string   `json:"op"`
	Names    []string `json:"names"`
	Callers  int      `json:"callers"`
	Clients  int      `json:"clients"` // among which the callers are shared
	HoldMs   float64  `json:"holdMs"`
	StartAt  float64  `json:"startAt"` // ms of the machine's monotonic clock
	Warm     float64  `json:"warm"`    // s
	Seconds  float64  `json:"seconds"`
	Patience float64  `json:"patience"` // ms
}

type answer struct {
	Value any    `json:"value"`
	Error string `json:"error,omitempty"`
}

// excludes says whether a lock of one client is closed to another one, and open when it is free again.
func excludes(one Locker, open Open, name string) (bool, error) {
	other, err := open(os.Args[1])
	if err != nil {
		return false, err
	}
	free, err := one.Acquire(name)
	if err != nil {
		return false, err
	}
	if second, err := other.TryAcquire(name); err != nil || second != nil {
		return false, err
	}
	if err := free(); err != nil {
		return false, err
	}
	free, err = other.Acquire(name)
	if err != nil {
		return false, err
	}
	return true, free()
}

// opened says all clients, once there are as many as asked for.
func opened(lockers []Locker, open Open, clients int) ([]Locker, error) {
	for len(lockers) < clients {
		another, err := open(os.Args[1])
		if err != nil {
			return lockers, err
		}
		lockers = append(lockers, another)
	}
	return lockers, nil
}

// Main is the whole program: `target/LIBRARY URL`.
func Main(open Open) {
	one, err := open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	lockers := []Locker{one}
	answers := json.NewEncoder(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var asked request
		var value any
		err := json.Unmarshal(lines.Bytes(), &asked)
		if err == nil && asked.Op == "probe" {
			value, err = excludes(one, open, asked.Names[0])
		} else if err == nil {
			lockers, err = opened(lockers, open, asked.Clients)
			if err == nil {
				value, err = work(lockers, asked)
			}
		}
		if err != nil {
			_ = answers.Encode(answer{Error: err.Error()})
		} else {
			_ = answers.Encode(answer{Value: value})
		}
	}
}
