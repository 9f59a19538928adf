/**
 * Words that name a day, a month or a span of time, in the languages that calendars on the web are mostly written in.
 * Some of them are ordinary words as well (`may`, `mars`, `so`): two texts that differ in nothing but these say the same.
 */

/** Names of months and weekdays, and their usual short forms. */
export const DATE_NAMES = (
  'january february march april may june july august september october november december ' +
  'jan feb mar apr jun jul aug sep sept oct nov dec ' +
  'monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun ' +
  'januar februar märz mai juni juli oktober dezember mär okt dez jänner ' +
  'montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so ' +
  'janvier février mars avril juin juillet août septembre octobre novembre décembre ' +
  'lundi mardi mercredi jeudi vendredi samedi dimanche lun mer jeu ven sam dim ' +
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre ' +
  'lunes martes miércoles jueves viernes sábado domingo mié jue vie sáb dom ' +
  'gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre ' +
  'lunedì martedì mercoledì giovedì venerdì sabato domenica gio ' +
  'janeiro fevereiro março maio junho julho setembro outubro novembro dezembro segunda terça quarta quinta sexta ' +
  'januari februari maart mei augustus maandag dinsdag woensdag donderdag vrijdag zaterdag zondag ' +
  'augusti måndag tisdag onsdag torsdag fredag lördag söndag ' +
  'styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień ' +
  'poniedziałek wtorek środa czwartek piątek sobota niedziela ' +
  'январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь ' +
  'января февраля марта апреля мая июня июля августа сентября октября ноября декабря ' +
  'понедельник вторник среда четверг пятница суббота воскресенье пн вт ср чт пт сб вс ' +
  'ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık'
).split(' ')

/** Words that make a date of a number beside them. */
export const DATE_UNITS = (
  'year month week day jahr monat woche kw tag année mois semaine jour año mes semana día anno mese settimana giorno ' +
  'ano mês dia jaar maand dag rok tydzień год месяц неделя день'
).split(' ')

/** The same in scripts that write it behind the number without a space. */
export const DATE_CHARACTERS = ['年', '月', '日']
