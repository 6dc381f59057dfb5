/** A request as applications build it, used if none is given: it shows what is found in a request. */
export const samplePrompt: string = JSON.stringify({
  model: 'any',
  messages: [
    { role: 'system', content: 'Answer from the documents.' },
    {
      role: 'user',
      content: [
        '<documents>',
        '<document index="1">\nThe ferry leaves at nine.\n</document>',
        '<document index="2">\nThe crossing takes two hours.\n</document>',
        '<document index="3">\nDogs travel free.\n</document>',
        '</documents>\n\nQuestion: When does the ferry arrive?',
      ].join('\n'),
    },
  ],
})
