package peer

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A sample has the fields of bench/support/load.ts.
type sample struct {
	Pairs   int       `json:"pairs"`
	Total   int       `json:"total"`
	Waits   []float64 `json:"waits"`
	Stays   []float64 `json:"stays"`
	Crowded int       `json:"crowded"`
	Held    float64   `json:"held"`
	CPU     float64   `json:"cpu"`
}

// now is CLOCK_MONOTONIC in ms, as all processes of the machine see it.
func now() float64 {
	var at unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &at)
	return float64(at.Nano()) / 1e6
}

// cpu is user and system, in µs.
func cpu() float64 {
	var used unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &used)
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e3
}

func sleepUntil(at float64) {
	time.Sleep(time.Duration((at - now()) * 1e6))
}

// A caller takes and frees one lock until the time is over, and keeps what it saw.
func caller(one Locker, name string, inside *atomic.Int32, asked request) (sample, error) {
	seen := sample{Waits: []float64{}, Stays: []float64{}}
	from := asked.StartAt + 1000*asked.Warm
	until := from + 1000*asked.Seconds
	for began := now(); began < until; began = now() {
		free, err := one.Acquire(name)
		if err != nil {
			return seen, err
		}
		had := now()
		if inside.Add(1) > 1 {
			seen.Crowded++
		}
		if asked.HoldMs > 0 {
			time.Sleep(time.Duration(asked.HoldMs * 1e6))
		}
		inside.Add(-1)
		left := now()
		seen.note(began, had, left, from, until)
		if err := free(); err != nil {
			return seen, err
		}
	}
	return seen, nil
}

func (seen *sample) note(began, had, left, from, until float64) {
	seen.Total++
	if had >= from && had < until {
		seen.Pairs++
	}
	if began >= from {
		seen.Waits = append(seen.Waits, had-began)
	}
	seen.Held += left - had
	seen.Stays = append(seen.Stays, 1000*had, 1000*left)
}

func (seen *sample) add(other sample) {
	seen.Pairs += other.Pairs
	seen.Total += other.Total
	seen.Crowded += other.Crowded
	seen.Held += other.Held
	seen.Waits = append(seen.Waits, other.Waits...)
	seen.Stays = append(seen.Stays, other.Stays...)
}

// work lets all callers go at once, each on a lock of its own or all on one.
func work(one Locker, asked request) (sample, error) {
	inside := make([]atomic.Int32, len(asked.Names))
	seen := make([]sample, asked.Callers)
	errs := make([]error, asked.Callers)
	sleepUntil(asked.StartAt)
	spent := cpu()
	var running sync.WaitGroup
	for i := range asked.Callers {
		running.Add(1)
		go func() {
			defer running.Done()
			place := i % len(asked.Names)
			seen[i], errs[i] = caller(one, asked.Names[place], &inside[place], asked)
		}()
	}
	running.Wait()
	all := sample{Waits: []float64{}, Stays: []float64{}, CPU: cpu() - spent}
	for i := range seen {
		if errs[i] != nil {
			return all, errs[i]
		}
		all.add(seen[i])
	}
	// Stays at different locks may overlap.
	if len(asked.Names) > 1 {
		all.Stays = []float64{}
	}
	return all, nil
}
