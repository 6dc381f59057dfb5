import { find } from './page-elements.js'

let asked = Promise.resolve()

/** Asks the user for the admin token, only once for all requests that wait for it. */
function askForToken() {
  const dialog = find('login')
  if (dialog.open) return asked
  asked = new Promise((resolve) => {
    const keep = () => {
      sessionStorage.setItem('reprise-token', find('token').value)
      resolve()
    }
    dialog.addEventListener('close', keep, { once: true })
    dialog.showModal()
  })
  return asked
}

/** Sends a request to this proxy's control plane; asks the user for the token if one is required. */
export async function ask(path, init = {}) {
  const token = sessionStorage.getItem('reprise-token')
  const headers = { ...init.headers, ...(token ? { authorization: `Bearer ${token}` } : {}) }
  const response = await fetch(path, { ...init, headers })
  if (response.status === 401) {
    await askForToken()
    return ask(path, init)
  }
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error?.message ?? `HTTP ${response.status}`)
  return answer
}
