/** Names (`toFieldName`) of fields whose list has an order that says something: what was said, is to be done, or happened one after another. */
export const orderedField: RegExp =
  /^(?:role|speaker|user|username|sender|from|to|step|stepnumber|turn|line|lines|linenumber|lineno|linestart|lineend|timestampms|time|start|end|starttime|endtime|offset|startoffset|charstart|begin|duration|question|input|target|sha|commit|version|tagname|number|chapter|sectionnumber|seq|sequence|order|positionms|event|level|eventtype|method|parameters|inputschema|arguments|function|inreplyto|parentid|replyto|messageid|threadid|frame|round|verse|schritt|étape|etape|paso|步骤|手順)$/

/** Names of fields that say so, too, but that what was searched for may have. */
export const datedField: RegExp =
  /^(?:timestamp|date|datetime|pubdate|created|createdat|updated|updatedat|lastupdated|published|publishedat|publisheddate|modified|modifiedat|lastmodified|day|month|year|hour|when|age|ts|rev|revision|v|author|authors|page|pagenumber|pagelabel|paragraph|part|section|indexindocument|chunkindex|chunkid|sequencenumber|datum|uhrzeit|fecha|hora|heure|日期|时间|日付|日時|時刻)$/

/** A field's name as these have it: `publishedAt` and `published_at` as `publishedat`. */
export function toFieldName(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}
