/** Streams as the engines write them, with the pieces of the answer's text in their text events; reasoning is the whole. */
export type StreamOf = (pieces: readonly string[]) => string

function quote(text: string): string {
  return JSON.stringify(text)
}

function sse(...events: readonly string[]): string {
  return events.map((event) => `${event}\n\n`).join('')
}

const chatHead = '"id":"chatcmpl-8f3e","object":"chat.completion.chunk","created":1763726400,"model":"Qwen/Qwen3-4B"'

/** vLLM: the role first, the last piece with its reason, usage, [DONE]. */
export const vllmChat: StreamOf = (pieces) =>
  sse(
    `data: {${chatHead},"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"prompt_token_ids":null}`,
    `data: {${chatHead},"choices":[{"index":0,"delta":{"reasoning_content":${quote(pieces.join(''))},"reasoning":${quote(pieces.join(''))}},"logprobs":null,"finish_reason":null}]}`,
    ...pieces.map(
      (piece) =>
        `data: {${chatHead},"choices":[{"index":0,"delta":{"content":${quote(piece)}},"logprobs":null,"finish_reason":null,"token_ids":[11,2]}]}`,
    ),
    `data: {${chatHead},"choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop","stop_reason":null}]}`,
    `data: {${chatHead},"choices":[],"usage":{"prompt_tokens":41,"total_tokens":50,"completion_tokens":9}}`,
    'data: [DONE]',
  )

/** OpenAI's own: the last event has no text; spaces, escapes, comments and line ends that nobody else writes. */
export const openAiChat: StreamOf = (pieces) =>
  sse(
    ': keep-alive [1]',
    ...pieces.map(
      (piece, place) =>
        `id: ${place}\nevent: message\ndata: { "choices" : [ {"delta" : { "content": ${quote(piece)} , "refusal":null},"index":0 } ], "obfuscation":"[1]\\u00e9\\/" }`,
    ),
    'data: {"choices":[{"delta":{},"index":0,"finish_reason":"stop"}]}',
    'data: [DONE]',
  ).replaceAll('\n', '\r\n')

export const vllmCompletion: StreamOf = (pieces) =>
  sse(
    ...pieces.map(
      (piece, place) =>
        `data: {"id":"cmpl-1","object":"text_completion","choices":[{"index":0,"text":${quote(piece)},"logprobs":null,"finish_reason":${place === pieces.length - 1 ? '"length"' : 'null'}}],"usage":null}`,
    ),
    'data: [DONE]',
  )

/** The whole text is repeated four more times when it is over. */
export const responses: StreamOf = (pieces) => {
  const whole = quote(pieces.join(''))
  const part = `{"type":"output_text","annotations":[],"logprobs":[],"text":${whole}}`
  const item = `{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[${part}]}`
  const place = '"item_id":"msg_1","output_index":1,"content_index":0'
  const output = `[{"id":"rs_1","type":"reasoning","content":[{"type":"reasoning_text","text":${whole}}],"summary":[{"type":"summary_text","text":${whole}}]},${item}]`
  let sequence = 4
  const event = (type: string, rest: string): string =>
    `event: ${type}\ndata: {"type":"${type}","sequence_number":${sequence++},${rest}}`
  return sse(
    event('response.created', '"response":{"id":"resp_1","instructions":"[1] a [2] b","output":[]}'),
    event('response.reasoning_text.delta', `"item_id":"rs_1","output_index":0,"content_index":0,"delta":${whole}`),
    event('response.reasoning_text.done', `"item_id":"rs_1","output_index":0,"content_index":0,"text":${whole}`),
    event(
      'response.reasoning_summary_text.delta',
      `"item_id":"rs_1","output_index":0,"summary_index":0,"delta":${whole}`,
    ),
    event(
      'response.reasoning_summary_part.done',
      `"item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":${whole}}`,
    ),
    event('response.content_part.added', `${place},"part":{"type":"output_text","annotations":[],"text":""}`),
    ...pieces.map((piece) => event('response.output_text.delta', `${place},"delta":${quote(piece)},"logprobs":[]`)),
    event('response.output_text.done', `${place},"text":${whole},"logprobs":[]`),
    event('response.content_part.done', `${place},"part":${part}`),
    event('response.output_item.done', `"output_index":1,"item":${item}`),
    event('response.function_call_arguments.delta', '"item_id":"fc_1","output_index":2,"delta":"{\\"x\\":[1]}"'),
    event('response.completed', `"response":{"id":"resp_1","instructions":"[1] a","output":${output},"usage":{}}`),
  )
}

export const messages: StreamOf = (pieces) =>
  sse(
    'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","content":[],"usage":{"input_tokens":9}}}',
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}',
    `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":${quote(pieces.join(''))}}}`,
    'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}',
    'event: content_block_start\ndata: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}',
    'event: ping\ndata: {"type": "ping"}',
    ...pieces.map(
      (piece) =>
        `event: content_block_delta\ndata: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":${quote(piece)}}       }`,
    ),
    'event: content_block_stop\ndata: {"type":"content_block_stop","index":1}',
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\\"a\\":[1]}"}}',
    'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}',
    'event: message_stop\ndata: {"type":"message_stop"}',
  )

/** SGLang: every event repeats the text so far. */
export const generate: StreamOf = (pieces) =>
  sse(
    ...pieces.map(
      (_, place) =>
        `data: {"text":${quote(pieces.slice(0, place + 1).join(''))},"output_ids":[1,2],"meta_info":{"id":"r","finish_reason":${place === pieces.length - 1 ? '{"type":"stop","matched":2}' : 'null'},"completion_tokens":${place + 1}}}`,
    ),
    'data: [DONE]',
  )

/** SGLang, configured to stream disjoint segments. */
export const generateSegments: StreamOf = (pieces) =>
  sse(
    ...pieces.map(
      (piece, place) =>
        `data: {"text":${quote(piece)},"meta_info":{"finish_reason":${place === pieces.length - 1 ? '{"type":"stop"}' : 'null'}}}`,
    ),
    'data: [DONE]',
  )
