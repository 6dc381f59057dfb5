/** Whether an error says that nothing was answered, rather than that something was refused. */
export function isNoAnswer({ name, message }: Error): boolean {
  return name !== 'ReplyError' || /^(LOADING|MASTERDOWN|CLUSTERDOWN)/.test(message)
}

/** Whether what Redis did not take is worth to be written again. */
export function isToBeRepeated(error: Error): boolean {
  return isNoAnswer(error) || isPassing(error) || /^(OOM|READONLY|MISCONF|NOREPLICAS|NOPERM|NOAUTH)/.test(error.message)
}

/** Whether Redis has refused something, which it will go on to do until somebody sees to it. */
export function isRefusal(error: Error): boolean {
  return !isNoAnswer(error) && !isPassing(error)
}

/** A cluster is moving a slot just now. */
function isPassing({ message }: Error): boolean {
  return /^(TRYAGAIN|MOVED|ASK) /.test(message)
}
