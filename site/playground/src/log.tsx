import type { JSX } from 'preact'
import type { World } from './world.js'

export const Log = ({ world }: { readonly world: World | undefined }): JSX.Element => (
  <ul class="log" tabIndex={0} aria-label="What happened, newest first">
    {world?.log.map(({ at, process, text, bad }) => (
      <li key={`${at} ${process} ${text}`} class={bad ? 'bad' : ''}>
        <span>{(at / 1000).toFixed(2)} s</span>
        <b>{process}</b>
        <span>{text}</span>
      </li>
    ))}
  </ul>
)
