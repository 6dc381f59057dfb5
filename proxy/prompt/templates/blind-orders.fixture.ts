import { asks, entries, type OrderedText, tells } from './ordered-texts.fixture.ts'

/* Texts that were drawn without a look at the finder, in which the order means something. */

/** A text and what is asked about it. */
const told: Readonly<Record<string, readonly [text: string, question: string]>> = {
  'chat log with names': [
    `Anna: The build fails again on the second machine.\nBen: Since when? It was green before lunch.\nAnna: Since your merge, I think, the lock file changed.\nBen: Then I take it back and we look at it tomorrow.`,
    `Who gave way in the end?`,
  ],
  'chat export with stamps in brackets': [
    `[12.03.25, 09:14] Mia: Are the keys with you?\n[12.03.25, 09:16] Jon: No, I left them at the desk yesterday.\n[12.03.25, 09:31] Mia: The desk says that nobody handed in anything.\n[12.03.25, 10:02] Jon: Found, they were in my coat all the time.`,
    `Summarise this conversation.`,
  ],
  'changelog by version': [
    `## [2.4.0] - 2025-03-02\n### Added\n- Export of tables as CSV.\n\n## [2.3.1] - 2025-02-11\n### Fixed\n- The menu closes when Escape is pressed.\n\n## [2.3.0] - 2025-01-20\n### Changed\n- Dates are shown in local time.`,
    `What was changed since 2.3.0?`,
  ],
  'steps under headings': [
    `### Step 1: Prepare the server\nInstall the packages and open port 8080 for the proxy.\n\n### Step 2: Create the database\nRun the script; it asks for the password of the owner.\n\n### Step 3: Start the service\nEnable the unit and look into the log for a line with ready.`,
    `At which step do I need the password?`,
  ],
  'numbered instructions with titles': [
    `1. **Unpack**: take the parts out of the box and count the screws.\n2. **Join**: put the sides to the back and turn the screws loosely.\n3. **Align**: stand the shelf up and push it until nothing rocks.\n4. **Tighten**: turn all screws firmly and hang in the boards.`,
    `Why is the shelf crooked if I tighten first?`,
  ],
  'unified diff of files': [
    `diff --git a/src/a.ts b/src/a.ts\n--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,2 +1,2 @@\n-const limit = 5\n+const limit = 8\n\ndiff --git a/src/b.ts b/src/b.ts\n--- a/src/b.ts\n+++ b/src/b.ts\n@@ -4,2 +4,2 @@\n-return rows\n+return rows.slice(0, limit)`,
    `Review this change.`,
  ],
  'patch series': [
    `[PATCH 1/3] Add the column\nThe table gets a column for the time of the last visit.\n\n[PATCH 2/3] Fill the column\nOld rows get the time of their creation as a first guess.\n\n[PATCH 3/3] Use the column\nThe list of visitors is sorted by it from now on.`,
    `Can the series be bisected?`,
  ],
  'few-shot pairs Input and Output': [
    `Input: The soup was cold and nobody came to ask.\nOutput: negative\n\nInput: We were seated at once and the fish was wonderful.\nOutput: positive\n\nInput: The room has four walls and a window to the yard.\nOutput: neutral`,
    `Input: I would come back any day.\nOutput:`,
  ],
  'few-shot examples with headings': [
    `### Example 1\nText: Call me at nine tomorrow.\nJSON: {"time": "09:00"}\n\n### Example 2\nText: The train leaves at half past six.\nJSON: {"time": "18:30"}\n\n### Example 3\nText: We met around noon.\nJSON: {"time": "12:00"}`,
    `Text: She left at a quarter to eight.\nJSON:`,
  ],
  'few-shot examples in tags': [
    `<examples>\n<example>\n<question>What is 3 plus 4?</question>\n<answer>It is 7.</answer>\n</example>\n<example>\n<question>What is 9 less 5?</question>\n<answer>It is 4.</answer>\n</example>\n<example>\n<question>What is 6 by 2?</question>\n<answer>It is 12.</answer>\n</example>\n</examples>`,
    `What is 8 plus 8?`,
  ],
  'ReAct scratchpad': [
    `Thought: I have to know the height of the tower first.\nAction: search[height of the tower]\nObservation: The tower is 112 metres high without its mast.\nThought: Now I need the height of the mast.\nAction: search[height of the mast]\nObservation: The mast was cut down to 14 metres in the year 1987.`,
    `Continue with the next thought.`,
  ],
  'steps done by an agent': [
    `## Step 1\nTool: read_file\nResult: The file holds three functions and no test.\n\n## Step 2\nTool: write_file\nResult: The test was written to test/sum.test.ts.\n\n## Step 3\nTool: run\nResult: One test fails, as sum returns a string.`,
    `What should be done next?`,
  ],
  'support ticket with comments': [
    `Comment #1 by customer\nThe printer shows error 51 since the update of Monday.\n\nComment #2 by support\nPlease switch it off for a minute and try once more.\n\nComment #3 by customer\nThat helped for an hour, now it shows error 52.`,
    `Write the next reply of the support.`,
  ],
  'e-mail thread': [
    `From: Carla\nDate: Mon, 3 Mar 2025 08:10\nSubject: Offer\n\nCould you send the offer with the lower price?\n\nFrom: David\nDate: Mon, 3 Mar 2025 11:45\nSubject: Re: Offer\n\nHere it is, but it holds only until Friday.\n\nFrom: Carla\nDate: Tue, 4 Mar 2025 09:00\nSubject: Re: Re: Offer\n\nThank you, we accept it as it stands.`,
    `Draft an answer to the last mail.`,
  ],
  'meeting minutes by agenda': [
    `TOP 1: Budget\nThe budget was passed with two votes against it.\n\nTOP 2: Move\nThe move to the new house is put off until autumn.\n\nTOP 3: Others\nThe summer party takes place in the yard.`,
    `Write the minutes in full sentences.`,
  ],
  'transcript with speakers and times': [
    `[00:00:04] Speaker 1: Welcome to the show, today we talk about bees.\n\n[00:00:11] Speaker 2: Thank you, I brought some honey along.\n\n[00:00:19] Speaker 1: Before we taste it, how did you begin?\n\n[00:00:27] Speaker 2: With a swarm that sat in our apple tree.`,
    `Give me show notes with times.`,
  ],
  subtitles: [
    `1\n00:00:01,000 --> 00:00:03,500\nNobody knew where the river came from.\n\n2\n00:00:03,600 --> 00:00:06,200\nUntil one day a boy walked upstream.\n\n3\n00:00:06,300 --> 00:00:09,000\nHe was gone for eleven days.`,
    `Translate these subtitles into German.`,
  ],
  'server log': [
    `2025-03-01T10:00:01Z INFO  api request GET /v1/items took 12 ms\n2025-03-01T10:00:02Z WARN  db pool is exhausted, 14 requests wait\n2025-03-01T10:00:05Z ERROR api request GET /v1/items failed with 503\n2025-03-01T10:00:09Z INFO  db pool has recovered after 7 s`,
    `What caused the 503?`,
  ],
  'API calls and responses': [
    `Request 1\nPOST /login {"user": "eva"}\nResponse: 200 {"token": "t1"}\n\nRequest 2\nGET /cart with token t1\nResponse: 200 {"items": []}\n\nRequest 3\nPOST /cart with token t1\nResponse: 401 {"error": "expired"}`,
    `Why was the third request refused?`,
  ],
  'frequently asked questions': [
    `Q: How do I create an account?\nA: Press Join and enter your address; a letter with a link follows.\n\nQ: How do I change my password?\nA: Log in, open Settings and choose Security there.\n\nQ: How do I delete my account?\nA: Write to us; it takes up to three days.`,
    `Rewrite this FAQ page in a friendlier tone.`,
  ],
  'test cases': [
    `Test case 1\nGiven an empty cart\nWhen I add a book\nThen the cart holds one item\n\nTest case 2\nGiven a cart with one book\nWhen I remove it\nThen the cart is empty again\n\nTest case 3\nGiven an empty cart\nWhen I check out\nThen I see a warning`,
    `Which case is missing?`,
  ],
  'contract with sections': [
    `§ 1 Subject\nThe landlord lets the flat on the second floor to the tenant.\n\n§ 2 Rent\nThe rent is due on the third working day of each month.\n\n§ 3 Notice\nThe notice under § 2 may be given in writing only.`,
    `Check this contract for mistakes.`,
  ],
  'statute with articles': [
    `Article 1. Every member has one vote in the assembly.\n\nArticle 2. The assembly is called by the board once a year.\n\nArticle 3. A vote under Article 1 may be given by letter.`,
    `Draft Article 4 on the board.`,
  ],
  'quiz with choices': [
    `Question 1: Which planet is nearest to the sun?\nA) Venus\nB) Mercury\nC) Mars\n\nQuestion 2: Which metal is liquid at room temperature?\nA) Mercury\nB) Lead\nC) Tin\n\nQuestion 3: Which gas do plants take in?\nA) Oxygen\nB) Helium\nC) Carbon dioxide`,
    `Answer with a list such as 1B 2A 3C.`,
  ],
  'two answers to compare': [
    `[Question]\nHow do magnets work?\n\n[The Start of Assistant A's Answer]\nTiny currents in the metal all point the same way.\n[The End of Assistant A's Answer]\n\n[The Start of Assistant B's Answer]\nMagnets have a soul that loves iron more than wood.\n[The End of Assistant B's Answer]`,
    `Which is better, A or B? Reply with [[A]] or [[B]].`,
  ],
  'responses to be judged': [
    `Response 1: The capital moved twice in that century, as the map shows.\n\nResponse 2: The capital has never moved, whatever the map may show.\n\nResponse 3: I do not know whether the capital moved at all.`,
    `Which response is the best? Give its number only.`,
  ],
  'passages to be ranked (RankGPT)': [
    `I will provide you with 3 passages, each indicated by number identifier [].\n\n[1] The bridge was opened in the spring of 1901 by the mayor.\n\n[2] The ferry went on for nine years after the bridge was there.\n\n[3] The mayor of that time wrote about his garden a great deal.`,
    `Rank the passages by relevance to the query: opening of the bridge. Output like [2] > [1].`,
  ],
  'search results to be re-ranked': [
    `Result 1: Cheap flights to Rome\nhttps://a.example/rome\nBook today and save a little.\n\nResult 2: Rome for three days\nhttps://b.example/days\nWhat to see if time is short.\n\nResult 3: The fall of Rome\nhttps://c.example/fall\nA history in two volumes.`,
    `These are in the order of the engine. Is the order right for the query "rome trip"?`,
  ],
  'documents by position': [
    `Document 1:\nThe first version of the text says that the fee is nine crowns.\n\nDocument 2:\nThe second version of the text says that the fee is ten crowns.`,
    `What was changed from the first document to the second?`,
  ],
  'drafts of one text': [
    `--- Draft 1 ---\nOnce there was a king who had no shoes.\n\n--- Draft 2 ---\nThere was a king once, and he had no shoes.\n\n--- Draft 3 ---\nA king without shoes lived here once.`,
    `Did the drafts get better over time?`,
  ],
  'table of contents': [
    `1. Introduction ............ 3\n2. Tools and materials ..... 9\n3. The first boat .......... 21\n4. The second boat ......... 48`,
    `Suggest a chapter after the third.`,
  ],
  'chapters of a story': [
    `Chapter 1\n\nThe boat left the harbour before the sun was up, and nobody waved.\n\nChapter 2\n\nOn the third day the wind fell and they took to the oars.\n\nChapter 3\n\nThe island was smaller than on the map, and somebody lived there.`,
    `Write chapter 4.`,
  ],
  'pages of a scanned letter': [
    `--- Page 1 ---\nDear sister, I write to you from the ship, which\n\n--- Page 2 ---\nis old but dry. The captain says that we shall\n\n--- Page 3 ---\nreach the coast within a week if the wind holds.`,
    `Transcribe the letter as one text.`,
  ],
  'parts of a long paste': [
    `[Part 1/3]\nThe report begins with the harvest of the year before\n\n[Part 2/3]\nand goes on with the prices, which fell from May onwards\n\n[Part 3/3]\nuntil nobody wanted to sell any more.`,
    `Summarise the report.`,
  ],
  'chunks of one document to be summarised': [
    `Chunk 1:\nThe council met on Monday and heard the report of the treasurer.\n\nChunk 2:\nIt then turned to the road, which had been closed since the flood.\n\nChunk 3:\nAt last it voted on the fee, and the fee was lowered.`,
    `The chunks follow each other. Write one summary of the whole document.`,
  ],
  'JSON events': [
    `[\n  {\n    "type": "click",\n    "target": "menu",\n    "at": 1041\n  },\n  {\n    "type": "input",\n    "target": "search",\n    "at": 1873\n  },\n  {\n    "type": "click",\n    "target": "result-3",\n    "at": 4410\n  },\n  {\n    "type": "close",\n    "target": "tab",\n    "at": 4502\n  }\n]`,
    `Describe what the user did.`,
  ],
  'JSON messages': [
    `[{"role":"user","content":"Can I change the date of my flight?"},{"role":"assistant","content":"Yes, for a fee of 40 crowns."},{"role":"user","content":"Then take the first one on Friday."}]`,
    `Classify the intent of the last message.`,
  ],
  'JSON steps of a workflow': [
    `{"name":"release","steps":[{"id":"build","content":"Compile the sources and write the archive."},{"id":"sign","content":"Sign the archive with the key of the team."},{"id":"upload","content":"Upload the archive and its signature."}]}`,
    `Is a step missing?`,
  ],
  'timeline by year': [
    `- **1889**: The mill is built by two brothers.\n- **1911**: A fire destroys the roof and the northern wall.\n- **1936**: The mill is sold to the town.\n- **1974**: It opens again as a museum.`,
    `How long did it stand without use?`,
  ],
  'diary with dates': [
    `## 2025-03-01\nRain all day. We stayed in the tent and played cards.\n\n## 2025-03-02\nSun at last, and eleven miles along the ridge.\n\n## 2025-03-03\nMy knee hurts, so we rest at the hut.`,
    `On which day did it get better?`,
  ],
  'Kubernetes manifests': [
    `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n  namespace: shop\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: shop`,
    `In which order does kubectl apply these?`,
  ],
  'SQL migrations': [
    `-- 001_create_users.sql\nCREATE TABLE users (id int PRIMARY KEY);\n\n-- 002_add_email.sql\nALTER TABLE users ADD COLUMN email text;\n\n-- 003_unique_email.sql\nCREATE UNIQUE INDEX ON users (email);`,
    `Write migration 004 that drops the index.`,
  ],
  'notebook cells': [
    `# In[1]:\nimport pandas as pd\nrows = pd.read_csv("a.csv")\n\n# In[2]:\nrows = rows.dropna()\nrows["day"] = rows["time"].dt.day\n\n# In[3]:\nrows.groupby("day").size().plot()`,
    `Why does cell 2 fail?`,
  ],
  'stack trace with causes': [
    `java.lang.IllegalStateException: order could not be stored\n    at shop.OrderService.store(OrderService.java:41)\nCaused by: java.sql.SQLException: connection is closed\n    at db.Pool.take(Pool.java:112)\nCaused by: java.net.SocketException: broken pipe\n    at net.Socket.write(Socket.java:77)`,
    `What is the root cause?`,
  ],
  recipe: [
    `**Step 1** Soak the beans overnight in cold water.\n\n**Step 2** Boil them with the leaves for an hour.\n\n**Step 3** Fry the onions and stir them in at the end.`,
    `Can I do step 3 in advance?`,
  ],
  'translation line by line': [
    `1. The night is long.\n   Die Nacht ist lang.\n2. The lamp burns low.\n   Die Lampe brennt nieder.\n3. Somebody knocks.\n   Jemand klopft.`,
    `Correct the translation, line by line.`,
  ],
  'strings to be translated': [
    `[1] Save your changes before you leave this page.\n[2] Your changes could not be saved, please try again.\n[3] All changes are saved.`,
    `Translate each line into French and keep the numbers.`,
  ],
  'verses of a song': [
    `[Verse 1]\nThe road is white, the sky is low\n\n[Chorus]\nAnd home is where the rivers go\n\n[Verse 2]\nThe bridge is down, the boat is slow`,
    `Write a second chorus.`,
  ],
  'exam with graded answers': [
    `Student answer 1:\nPlants need light to make sugar out of air and water.\n\nStudent answer 2:\nPlants eat earth, which is why pots get empty.\n\nStudent answer 3:\nPlants breathe at night as we do.`,
    `Grade the answers on a scale of 0 to 5, in this order.`,
  ],
  'reviews with positions': [
    `Review #1 (5 stars): It arrived on the next day and works as promised.\n\nReview #2 (1 star): The lid broke off when I opened it for the first time.\n\nReview #3 (3 stars): It is fine for its price, but loud.`,
    `Return a JSON array with the sentiment of each review, in order.`,
  ],
  'history in a prompt': [
    `<history>\n<turn role="user">I would like a table for two on Friday.</turn>\n<turn role="assistant">At eight there is one by the window.</turn>\n<turn role="user">Seven would be better for us.</turn>\n</history>`,
    `Write the next turn of the assistant.`,
  ],
  'incident report': [
    `Update 1 (10:05): We see raised error rates in the second region.\n\nUpdate 2 (10:40): The cause is found, a certificate ran out.\n\nUpdate 3 (11:15): The certificate was renewed and all is well.`,
    `Write the closing mail for our customers.`,
  ],
  'JSON array to be ranked by index': [
    `{"candidates":[{"index":0,"text":"The museum opens at nine and closes at five."},{"index":1,"text":"The keeper of the museum has two dogs."},{"index":2,"text":"The boat to the museum leaves every hour."}]}`,
    `Return the indexes sorted by relevance to: when does the museum open.`,
  ],
}

/** Entries that tools return in an order. */
const returned: readonly OrderedText[] = [
  tells(
    'commits of a repository',
    'git_log',
    entries(
      (said, n) =>
        `commit ${n}f3a9c0${n}\nAuthor: Eva <eva@example.org>\nDate:   Mon Mar ${10 - n} 2025\n\n    ${said}`,
    ),
  ),
  tells(
    'messages of a channel',
    'slack_history',
    JSON.stringify({ messages: ['Is it up?', 'Not yet.', 'Now it is.'].map((text, i) => ({ ts: `17${i}.1`, text })) }),
  ),
  tells(
    'lines of a file with numbers',
    'read_file',
    entries((said, n) => `${n}\t# ${said}`, '\n'),
  ),
  tells(
    'todo list of an agent',
    'todo_read',
    entries((said, n) => `${n}. [${n < 3 ? 'x' : ' '}] ${said}`, '\n'),
  ),
  tells(
    'comments of an issue',
    'get_issue_comments',
    JSON.stringify(
      entries((said) => said, '|')
        .split('|')
        .map((body, i) => ({ id: 90 + i, user: { login: 'eva' }, body })),
    ),
  ),
]

/** The blind set of texts that must not be moved. */
export const blindOrders: readonly OrderedText[] = [
  ...Object.entries(told).map(([name, [text, question]]) => asks(name, text, question)),
  ...returned,
]
