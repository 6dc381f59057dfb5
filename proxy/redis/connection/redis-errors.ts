/** Whether an error means that Redis did not answer, rather than that it refused something. */
export function isNoAnswer({ name, message }: Error): boolean {
  return name !== 'ReplyError' || /^(LOADING|MASTERDOWN|CLUSTERDOWN)/.test(message)
}

/** Whether a failed write is worth retrying. */
export function isToBeRepeated(error: Error): boolean {
  return isNoAnswer(error) || isPassing(error) || /^(OOM|READONLY|MISCONF|NOREPLICAS|NOPERM|NOAUTH)/.test(error.message)
}

/** Whether Redis refused something, and will keep refusing it until somebody intervenes. */
export function isRefusal(error: Error): boolean {
  return !isNoAnswer(error) && !isPassing(error)
}

/** Whether a cluster is moving the slot just now, or another proxy has written to a log in between. */
function isPassing(error: Error): boolean {
  return /^(TRYAGAIN|MOVED|ASK) /.test(error.message) || isOvertaken(error)
}

/** Whether Redis refused an entry of a stream since it already has one with this id, or a later one. */
export function isOvertaken({ message }: Error): boolean {
  return message.includes('equal or smaller than the target stream')
}
