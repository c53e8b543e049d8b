// A paused client is refused by the row that its lock guards. See README.md.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { connect } from 'holdfast'
import pg from 'pg'

const LOCK = 'fencing-postgres:account'
/** Short, so that the lock of the paused client is soon free. */
const WATCHDOG = 2000

/** The guard: a token below the newest that the row has seen is refused. Who has the lock again may write again. */
const write = async (database, hold, amount) => {
  const { rowCount } = await database.query(
    'UPDATE fencing_account SET balance = balance + $1, token = $2 WHERE id = 1 AND token <= $2',
    [amount, hold.token.toString()],
  )
  return rowCount === 1
}

const account = async (database) => {
  const { rows } = await database.query('SELECT balance, token FROM fencing_account WHERE id = 1')
  return rows[0]
}

const visit = async (who, beforeWriting) => {
  const say = (text) => console.log(`${who}: ${text}`)
  const client = await connect({ url: process.env.HOLDFAST_URL, watchdog: WATCHDOG })
  const database = new pg.Client({ connectionString: process.env.DATABASE_URL })
  await database.connect()
  const hold = await client.fencedLock(LOCK).acquire()
  await beforeWriting(hold, say)
  if (await write(database, hold, 50)) say('wrote')
  else say(`refused, the row has seen token ${(await account(database)).token}`)
  await hold.release()
  await database.end()
  await client.close()
}

const pausedWriter = () =>
  visit('paused writer', (hold, say) => {
    // It looks before it writes, as it should; what comes after the look nobody can foresee.
    if (hold.lost) throw new Error('lost before the show began')
    say(`has token ${hold.token}, holds the lock, and is stopped before it writes`)
    process.kill(process.pid, 'SIGSTOP')
    say('goes on as if nothing had happened')
  })

const secondWriter = () =>
  visit('second writer', (hold, say) => {
    say(`has token ${hold.token}`)
  })

const main = async () => {
  const database = new pg.Client({ connectionString: process.env.DATABASE_URL })
  await database.connect()
  await database.query('DROP TABLE IF EXISTS fencing_account')
  await database.query('CREATE TABLE fencing_account (id int PRIMARY KEY, balance int NOT NULL, token bigint NOT NULL)')
  await database.query('INSERT INTO fencing_account VALUES (1, 100, 0)')
  const paused = spawn(process.execPath, [fileURLToPath(import.meta.url), 'paused'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(paused, 'exit')
  const lines = createInterface({ input: paused.stdout })
  const stopped = once(lines, 'line')
  lines.on('line', (line) => console.log(line))
  await Promise.race([stopped, ended])
  try {
    await secondWriter()
  } finally {
    paused.kill('SIGCONT')
    await ended
  }
  const { balance, token } = await account(database)
  console.log(`the row: balance ${balance}, token ${token}`)
  await database.query('DROP TABLE fencing_account')
  await database.end()
}

await (process.argv[2] === 'paused' ? pausedWriter() : main())
