// @ts-check
// The queries of dashboard.json, as Grafana would send them.

/**
 * @typedef {object} Target
 * @property {string} expr
 * @property {string} legendFormat
 *
 * @typedef {object} Dashboard
 * @property {readonly { title: string, targets?: readonly Target[], fieldConfig: { defaults: { unit: string } } }[]} panels
 *
 * @typedef {object} Query
 * @property {string} title of its panel
 * @property {string} expr
 * @property {string} legend
 * @property {string} unit
 */

/** What Grafana writes for its variables. @param {string} expr @param {string} window such as `5m` */
const filledIn = (expr, window) =>
  expr.replaceAll('$__rate_interval', window).replaceAll('$job', '.*').replaceAll('$kind', '.*')

/** @param {Dashboard} dashboard @param {string} window @returns {Query[]} */
export const queriesOf = ({ panels }, window) =>
  panels.flatMap(({ title, targets = [], fieldConfig }) =>
    targets.map(({ expr, legendFormat }) => ({
      title,
      expr: filledIn(expr, window),
      legend: legendFormat,
      unit: fieldConfig.defaults.unit,
    })),
  )

/** `{{kind}} p99` with the labels of a series. @param {string} legend @param {Record<string, string>} labels */
export const legendOf = (legend, labels) => legend.replace(/{{(\w+)}}/g, (_, name) => labels[name] ?? '')
