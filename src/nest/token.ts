import { Inject } from '@nestjs/common'

/** The token of a client: of the one without a name, or of a named one. */
export const getHoldfastToken = (name?: string): string =>
  name === undefined ? 'HOLDFAST_CLIENT' : `HOLDFAST_CLIENT_${name}`

/** Injects a client into a constructor or a property: `constructor(@InjectHoldfast() client: Client)`. */
export const InjectHoldfast = (name?: string): PropertyDecorator & ParameterDecorator => Inject(getHoldfastToken(name))
