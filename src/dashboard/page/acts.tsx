import { useRef, useState } from 'preact/hooks'
import type { Person, ShownLock } from '../page-messages.js'
import { type Deed, send } from './stream-or-poll.js'
import { count, shown, whoIs } from './words.js'

interface ActsProps {
  readonly lock: ShownLock
  readonly holder: Person
  readonly say: (text: string) => void
}

interface Texts {
  readonly open: string
  readonly submit: string
  readonly warning: (who: string) => string
  readonly done: (who: string) => string
}

const TEXTS: Readonly<Record<Deed, Texts>> = {
  ask: {
    open: 'Ask…',
    submit: 'Ask for it',
    warning: (who) => `The program of ${who} is asked to release the lock. It may go on. To ask,`,
    done: (who) => `${who} was asked to release it.`,
  },
  extend: {
    open: 'Extend…',
    submit: 'Extend it',
    warning: (who) =>
      `Nobody else acquires the lock in this time, even if ${who} has died. ${who} is not told. To extend the lease,`,
    done: (who) => `The lease of ${who} is extended.`,
  },
  release: {
    open: 'Release…',
    submit: 'Release it',
    warning: (who) =>
      `${who} learns of it at its next renewal, and may work beside the next holder until then. To release,`,
    done: (who) => `What ${who} held is released.`,
  },
}
const DEEDS = Object.keys(TEXTS) as readonly Deed[]

const LEASES = [60_000, 300_000, 900_000, 3_600_000]

const Lease = ({ lease, set }: { lease: number; set: (lease: number) => void }) => (
  <label class="short">
    Time left
    <select value={String(lease)} onChange={({ currentTarget }) => set(Number(currentTarget.value))}>
      {LEASES.map((ms) => (
        <option key={ms} value={String(ms)}>
          {count(ms / 60_000, 'minute')}
        </option>
      ))}
    </select>
  </label>
)

/** It is confirmed by typing the name: nobody does that by mistake. */
const Confirm = ({ lock, holder, say, deed, close }: ActsProps & { deed: Deed; close: () => void }) => {
  const [typed, setTyped] = useState('')
  const [lease, setLease] = useState(LEASES[1] ?? 0)
  const sent = useRef(false)
  const texts = TEXTS[deed]
  const go = async (event: Event) => {
    event.preventDefault()
    if (sent.current) return
    sent.current = true
    const body = { lock: lock.id, owner: holder.id, ...(deed === 'extend' && { lease }) }
    say((await send(deed, body)) ?? texts.done(whoIs(holder)))
    close()
  }
  return (
    <form class="act" onSubmit={(event) => void go(event)}>
      {deed === 'extend' && <Lease lease={lease} set={setLease} />}
      <label>
        {texts.warning(whoIs(holder))} type <b>{shown(lock.name)}</b>
        <input value={typed} onInput={({ currentTarget }) => setTyped(currentTarget.value)} autocomplete="off" />
      </label>
      <button
        type="submit"
        class={deed === 'release' ? 'danger' : 'sure'}
        disabled={typed !== lock.name && typed !== shown(lock.name)}
      >
        {texts.submit}
      </button>
      <button type="button" onClick={close}>
        Cancel
      </button>
    </form>
  )
}

/** What can be done with what this owner holds. */
export const Acts = (props: ActsProps) => {
  const [deed, choose] = useState<Deed>()
  if (deed !== undefined) return <Confirm {...props} deed={deed} close={() => choose(undefined)} />
  return (
    <span class="act">
      {DEEDS.map((one) => (
        <button key={one} type="button" onClick={() => choose(one)}>
          {TEXTS[one].open}
        </button>
      ))}
    </span>
  )
}
