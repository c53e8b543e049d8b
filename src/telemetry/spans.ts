import {
  type Attributes,
  SpanKind,
  SpanStatusCode,
  type Span,
  type SpanContext,
  type Tracer,
  type TracerProvider,
  context,
  isSpanContextValid,
  trace,
} from '@opentelemetry/api'
import type { DiagnosticMessage } from '../api/diagnostics.js'
import { HoldfastError } from '../errors.js'
import { codeOf, isA, tell } from '../thrown.js'
import { ByNumber, listen } from './events.js'
import type { Names } from './series.js'
import { WaitedFor } from './waited-for.js'

/** Bounded, whatever was thrown. `_OTHER` is OpenTelemetry's word for it. */
const typeOf = (error: unknown): string => (isA(error, HoldfastError) ? (codeOf(error) ?? '_OTHER') : '_OTHER')

const LOST = { lost: 'its lease ended', forced: 'it was released by force, or its key was deleted' }

/** One span for each call, with links to the holds that it waited for. */
export class Spans {
  readonly stop: () => void
  readonly #tracer: Tracer
  readonly #names: Names
  readonly #open = new ByNumber<Span>()
  readonly #waitedFor = new WaitedFor<SpanContext>()

  constructor(provider: TracerProvider, names: Names) {
    this.#tracer = provider.getTracer('holdfast')
    this.#names = names
    const stop = listen({
      acquire: (message) => this.#begin(message),
      wait: (message) => this.#wait(message),
      grant: (message) => this.#grant(message),
      end: (message) => this.#fail(message),
      release: (message) => this.#release(message),
    })
    this.stop = () => {
      stop()
      for (const span of this.#open.takeAll())
        tell(
          () => span.end(),
          () => undefined,
        )
    }
  }

  #attributes({ client, kind, name }: DiagnosticMessage): Attributes {
    const mapped = this.#names.of(name, kind)
    return {
      'holdfast.client': client,
      'holdfast.kind': kind,
      ...(mapped !== undefined && { 'holdfast.name': mapped }),
    }
  }

  /** Runs in the context of the call, so the caller's span is the parent. */
  #begin(message: DiagnosticMessage): void {
    const attributes = this.#attributes(message)
    const name = `acquire ${String(attributes['holdfast.name'] ?? message.kind)}`
    const span = this.#tracer.startSpan(name, { kind: SpanKind.INTERNAL, attributes })
    this.#open.set(message.client, message.id as number, span)
  }

  #wait(message: DiagnosticMessage): void {
    this.#waitedFor.waits(message)
    this.#open.get(message.client, message.id)?.addEvent('wait')
  }

  /** Ends the span, if the call began while somebody listened. */
  #end(message: DiagnosticMessage, last: (span: Span) => void): void {
    const holds = this.#waitedFor.ended(message)
    const span = this.#open.take(message.client, message.id)
    if (span === undefined) return
    try {
      for (const held of holds) span.addLink({ context: held, attributes: { 'holdfast.link': 'waited for' } })
      last(span)
    } finally {
      span.end()
    }
  }

  #grant(message: DiagnosticMessage): void {
    this.#end(message, (span) => {
      span.setAttribute('holdfast.outcome', 'granted')
      const held = span.spanContext()
      if (isSpanContextValid(held)) this.#waitedFor.held(message, held)
      span.addEvent('grant', { 'holdfast.local': message.local === true })
    })
  }

  #fail(message: DiagnosticMessage): void {
    this.#end(message, (span) => {
      const { outcome, error } = message
      span.setAttribute('holdfast.outcome', outcome as string)
      if (error !== undefined) span.setAttribute('error.type', typeOf(error))
      if (outcome === 'error') span.setStatus({ code: SpanStatusCode.ERROR })
    })
  }

  #release(message: DiagnosticMessage): void {
    this.#waitedFor.released(message)
    const { outcome } = message
    if (outcome === 'lost' || outcome === 'forced') this.#lost(message, LOST[outcome])
  }

  /** The caller's span gets the exception. If it has ended, a span of its own. */
  #lost(message: DiagnosticMessage, why: string): void {
    const exception = { name: 'LockLostError', message: `a ${message.kind} was lost: ${why}` }
    const active = trace.getSpan(context.active())
    if (active?.isRecording() === true) {
      active.recordException(exception)
      return
    }
    const span = this.#tracer.startSpan(`lost ${message.kind}`, { attributes: this.#attributes(message) })
    try {
      span.recordException(exception)
      span.setStatus({ code: SpanStatusCode.ERROR })
    } finally {
      span.end()
    }
  }
}
