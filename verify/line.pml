/* The line on the server, as both models have it: a list of OWNERS owners at most, and what their deadlines mean now. */

#define NOBODY 0
byte lock;                    /* the owner in the hash, 0: no key */
byte queue[OWNERS];           /* the list */
byte length;

#define STALE  0              /* not later than now */
#define BRIEF  1              /* at most a short lease from now */
#define AMPLE  2              /* later than that: whatever a living waiter's polls keep ahead of now */
byte deadline[OWNERS + 1];
bit fraction[OWNERS + 1];

hidden byte spot_of;

/* After find. */
#define IS_QUEUED (spot_of < length)

inline find(o) {
  spot_of = 0;
  do
  :: spot_of < length && queue[spot_of] != o -> spot_of++
  :: else -> break
  od
}

inline take_out(o) {
  find(o);
  if
  :: IS_QUEUED ->
    do
    :: spot_of + 1 < length -> queue[spot_of] = queue[spot_of + 1]; spot_of++
    :: else -> break
    od;
    length--;
    queue[length] = NOBODY;
    deadline[o] = STALE;
    fraction[o] = 0
  :: else
  fi
}

/* More copies of a message than a case can need are as good as lost. */
#define ADD(to, more) to = (to + (more) > 2 -> 2 : to + (more))

/* Over all places of the list (those after its end hold nobody). */
#define SAME(e, o) ((e) == (o))
#if OWNERS == 2
#define SOME_PLACE(is, a) (is(queue[0], a) || is(queue[1], a))
#elif OWNERS == 3
#define SOME_PLACE(is, a) (is(queue[0], a) || is(queue[1], a) || is(queue[2], a))
#elif OWNERS == 4
#define SOME_PLACE(is, a) (is(queue[0], a) || is(queue[1], a) || is(queue[2], a) || is(queue[3], a))
#elif OWNERS == 5
#define SOME_PLACE(is, a) (is(queue[0], a) || is(queue[1], a) || is(queue[2], a) || is(queue[3], a) || is(queue[4], a))
#else
#define SOME_PLACE(is, a) (is(queue[0], a) || is(queue[1], a) || is(queue[2], a) || is(queue[3], a) || is(queue[4], a) || is(queue[5], a))
#endif
#define QUEUED_NOW(o) SOME_PLACE(SAME, o)
