import { render } from 'preact'
import { App } from './app.js'
import { show, themeNow } from './theme.js'

show(themeNow())
const root = document.querySelector('#app')
if (root !== null) render(<App />, root)
