/* Patterns of values that the chart passes on to Kubernetes and reprise; in the syntax that Helm (Go) and JavaScript share. */

const octet = '(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])'
const ipv4 = `${octet}(\\.${octet}){3}`
const ipv6 = `[0-9A-Fa-f]{0,4}(:[0-9A-Fa-f]{0,4}){2,7}(:${ipv4})?`
const hostName = '[A-Za-z]([A-Za-z0-9.-]*[A-Za-z0-9])?'
const bits4 = '/(3[0-2]|[12]?[0-9])'
const bits6 = '/(12[0-8]|1[01][0-9]|[1-9]?[0-9])'
const port = ':([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])'
const server = `(\\[${ipv6}\\]|[^\\s@:/,?#]+)(${port})?`

/** A range of addresses, as in 10.0.0.0/8 or fd00::/8. */
export const range: string = `^(${ipv4}${bits4}|${ipv6}${bits6})$`
/** An address or a range. */
export const rangeOrAddress: string = `^(${ipv4}(${bits4})?|${ipv6}(${bits6})?)$`
/** An address or the name of a host. */
export const host: string = `^(${ipv4}|${ipv6}|${hostName})$`
/** A name in DNS, or all below one, as in *.example.com. */
export const dnsName: string = '^(\\*\\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$'
/** Without user, query and fragment. */
export const engineUrl: string = `^https?://${server}(/[^\\s?#]*)?$`
export const eventsUrl: string = `^tcp://(\\[${ipv6}\\]|[A-Za-z0-9][A-Za-z0-9_.-]*)${port}$`
/** Of a Redis, without a password; or none. Short, because Helm prints it; reprise checks the rest at its start. */
export const redisUrl: string = '^(rediss?(\\+sentinel|\\+cluster)?://[^\\s@/?#]+([/?][^\\s@]*)?)?$'

const word = '[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?'
/** The key of a label or an annotation. */
export const labelKey: string = `^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?${word}$`
export const labelValue: string = `^(${word})?$`
/** A part of an object's name, or nothing. */
export const namePart: string = '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?$'
/** The name of an object, or nothing. */
export const objectName: string = '^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)?$'
