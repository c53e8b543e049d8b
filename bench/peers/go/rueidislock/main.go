package main

import (
	"context"
	"errors"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"holdfast/bench/peer"
)

type rueidisLocker struct{ locker rueidislock.Locker }

// open sets it up as its options recommend: one server needs a majority of one; from Redis 7.0.5 on nobody
// needs to hear of what he has written himself.
func open(url string) (peer.Locker, error) {
	client, err := rueidis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	made, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   client,
		KeyMajority:    1,
		NoLoopTracking: true,
	})
	return &rueidisLocker{made}, err
}

func (one *rueidisLocker) Acquire(name string) (func() error, error) {
	_, cancel, err := one.locker.WithContext(context.Background(), name)
	return func() error { cancel(); return nil }, err
}

func (one *rueidisLocker) TryAcquire(name string) (func() error, error) {
	_, cancel, err := one.locker.TryWithContext(context.Background(), name)
	if errors.Is(err, rueidislock.ErrNotLocked) {
		return nil, nil
	}
	return func() error { cancel(); return nil }, err
}

func main() { peer.Main(open) }
