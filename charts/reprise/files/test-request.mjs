// Sends one prompt with two documents. Exits with 1 if reprise did not see both, or the engine did not answer.
const { BASE_URL, MODEL, API_KEY } = process.env
const headers = { 'content-type': 'application/json', ...(API_KEY ? { authorization: `Bearer ${API_KEY}` } : {}) }
const documents =
  '<documents>\n<document index="1">Paris is the capital of France.</document>\n' +
  '<document index="2">The Seine flows through Paris.</document>\n</documents>'

async function ask(path, body) {
  const response = await fetch(BASE_URL + path, {
    headers,
    ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 500)}`)
  return { response, json: JSON.parse(text) }
}

try {
  const model = MODEL || (await ask('/v1/models')).json.data[0].id
  const messages = [{ role: 'user', content: `${documents}\n\nQuestion: Which city is the capital?` }]
  const { response, json } = await ask('/v1/chat/completions', { model, messages, max_tokens: 16 })
  const blocks = response.headers.get('x-reprise-blocks')
  if (blocks !== '2')
    throw new Error(`reprise found ${blocks} documents, not 2; skipped: ${response.headers.get('x-reprise-skipped')}`)
  process.stdout.write(
    `${model} answered through replica ${response.headers.get('x-reprise-replica')}: ${JSON.stringify(json.usage)}\n`,
  )
} catch (error) {
  process.stderr.write(`${error.message}${error.cause ? `: ${error.cause.message}` : ''}\n`)
  process.exitCode = 1
}
